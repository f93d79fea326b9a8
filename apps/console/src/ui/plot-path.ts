export interface PlotBox {
  width: number;
  height: number;
}

/** Space above and below the line, so that its stroke is not clipped. */
const MARGIN = 3;

/** SVG paths of a line and the area below it; a single value is a flat line. The scale begins at zero. */
export function linePath(values: readonly number[], box: PlotBox): { line: string; area: string } {
  const [first] = values;
  if (first === undefined) return { line: '', area: '' };
  const shown = values.length === 1 ? [first, first] : values;
  const highest = Math.max(1, ...shown);
  const step = box.width / (shown.length - 1);
  const points = shown.map((value, index) => {
    const y = box.height - MARGIN - (value / highest) * (box.height - 2 * MARGIN);
    return `${round(index * step)} ${round(y)}`;
  });
  const line = `M${points.join('L')}`;
  return { line, area: `${line}L${box.width} ${box.height}L0 ${box.height}Z` };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
