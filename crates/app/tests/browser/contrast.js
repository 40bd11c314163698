// Texts whose contrast is under WCAG AA: 4.5 to 1, and 3 to 1 where they are large. Charts draw their own.
const parts = (colour) => {
  const numbers = (colour.match(/[\d.]+/g) || []).map(Number);
  return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
};
const over = (top, ground) => top.rgb.map((value, at) => value * top.alpha + ground[at] * (1 - top.alpha));
const light = (rgb) => {
  const [r, g, b] = rgb.map((value) => value / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const groundOf = (element) => {
  if (!element) return [255, 255, 255];
  const own = parts(getComputedStyle(element).backgroundColor);
  return own.alpha === 1 ? own.rgb : over(own, groundOf(element.parentElement));
};
const weak = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest("script, svg, .hidden, [data-plot]") || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const ground = groundOf(element);
  const [a, b] = [light(over(parts(style.color), ground)), light(ground)].sort((x, y) => y - x);
  const size = parseFloat(style.fontSize);
  const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < needed) weak.add(ratio.toFixed(2) + " " + element.tagName + "." + element.className + ": " + walker.currentNode.data.trim().slice(0, 40));
}
return [...weak];
