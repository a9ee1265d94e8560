// Draws a URL as an SVG QR code in the page, without any request.
import { encode } from "uqr";

const quiet = 4; // modules of quiet zone (ISO/IEC 18004)

export function drawCode(text: string, label: string): SVGElement {
  const { data, size } = encode(text, { ecc: "M", border: 0 });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + quiet} ${y + quiet}h1v1h-1z`] : [])))
    .join("");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const side = size + 2 * quiet;
  svg.setAttribute("viewBox", `0 0 ${side} ${side}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
