/**
 * Normalizes text so that every database returns it unchanged: a lone surrogate has no UTF-8 form, and PostgreSQL
 * rejects NUL. A row's MAC covers the text as written, so a change would look like tampering. Cuts between code points.
 */
export function storableText(text: string, maxLength: number = text.length): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  return clean.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
}
