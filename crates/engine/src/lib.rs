//! Every decision of Lowwater. Sees the vocabulary only: no files, no clock, no async; randomness by seed.
