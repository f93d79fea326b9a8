/** Reports a measured number, which `svc test` prints. Nothing asserts it. */
export function reportFigure(name: string, value: string): void {
  console.log(`figure: ${name}: ${value}`);
}
