/** A measured number for the reader of a run; `svc test` repeats these lines. Nothing asserts them. */
export function reportFigure(name: string, value: string): void {
  console.log(`figure: ${name}: ${value}`);
}
