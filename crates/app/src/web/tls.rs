//! The certificate of the server.

use std::path::Path;
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::AppError;

/// TLS 1.2 and 1.3 with a chain of certificates and its key, in PEM.
pub fn config(chain: &Path, key: &Path) -> Result<RustlsConfig, AppError> {
    let unreadable = |path: &Path, what: &str, why: &dyn std::fmt::Display| {
        let shown = path.display();
        AppError::Input(format!("{shown}: {why}\nhint: name a PEM file that holds the {what}"))
    };
    let certificates: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = certificates.map_err(|e| unreadable(chain, "chain of certificates", &e))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| unreadable(key, "private key", &e))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, private))
        .map_err(|e| {
            unreadable(
                chain,
                "certificate of that key, first its own and then those of who signed it",
                &e,
            )
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
}
