/**
 * The text as every database gives it back: a lone surrogate has no UTF-8, and PostgreSQL refuses NUL. The MAC of a row
 * covers what was written, so a text that comes back changed would look like tampering. Cuts between code points.
 */
export function storableText(text: string, maxLength: number = text.length): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  return clean.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
}
