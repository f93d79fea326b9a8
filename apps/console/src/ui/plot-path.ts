export interface PlotBox {
  width: number;
  height: number;
  /** Values that fill the width. */
  capacity: number;
}

/** Room above and below the line, so that its stroke is not cut. */
const MARGIN = 3;

/** SVG paths of a line and of the area under it; empty for fewer than two values. The scale begins at zero. */
export function linePath(values: readonly number[], box: PlotBox): { line: string; area: string } {
  const shown = values.slice(-box.capacity);
  if (shown.length < 2) return { line: '', area: '' };
  const highest = Math.max(1, ...shown);
  const step = box.width / (box.capacity - 1);
  const startX = box.width - step * (shown.length - 1);
  const points = shown.map((value, index) => {
    const x = startX + index * step;
    const y = box.height - MARGIN - (value / highest) * (box.height - 2 * MARGIN);
    return `${round(x)} ${round(y)}`;
  });
  const line = `M${points.join('L')}`;
  return { line, area: `${line}L${box.width} ${box.height}L${round(startX)} ${box.height}Z` };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
