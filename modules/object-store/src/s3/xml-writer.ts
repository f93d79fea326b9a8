/** An element: its name, with attributes after a space where it has any, and its content; null and undefined leave it out, an array repeats it. */
export type XmlContent = string | number | boolean | null | undefined | XmlNode | readonly XmlNode[];
export interface XmlNode {
  readonly [name: string]: XmlContent | readonly (string | number)[];
}

export const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

export function xmlDocument(root: string, content: XmlContent, options: { namespace: boolean }): string {
  const attribute = options.namespace ? ` xmlns="${S3_NAMESPACE}"` : '';
  const pieces: string[] = [DECLARATION, `<${root}${attribute}>`];
  writeContent(pieces, content);
  pieces.push(`</${root}>`);
  return pieces.join('');
}

function writeContent(pieces: string[], content: XmlContent): void {
  if (content === null || content === undefined) return;
  if (typeof content !== 'object') {
    pieces.push(escapeXml(String(content)));
    return;
  }
  for (const [name, value] of Object.entries(content)) writeElement(pieces, name, value);
}

function writeElement(pieces: string[], name: string, value: XmlNode[string]): void {
  if (value === null || value === undefined) return;
  const items: readonly XmlContent[] = Array.isArray(value) ? value : [value as XmlContent]; // the array case is left
  const [tag = name] = name.split(' ', 1);
  for (const item of items) {
    pieces.push(`<${name}>`);
    writeContent(pieces, item);
    pieces.push(`</${tag}>`);
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Control characters go as references, as AWS sends them: not legal in XML 1.0, but what its clients ask `encoding-type` for. */
function escapeXml(text: string): string {
  if (!/[&<>"'\p{Cc}\ufffe\uffff]/u.test(text)) return text;
  return text.replace(
    /[&<>"'\p{Cc}\ufffe\uffff]/gu,
    (character) => ESCAPES[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`,
  );
}
