/** An element of an S3 response, which has neither mixed content nor relevant attributes. */
export interface XmlElement {
  name: string;
  children: XmlElement[];
  text: string;
}

const TOKEN = /<\?[^>]*\?>|<(\/?)([\w:.-]+)([^<>]*?)(\/?)>|([^<]+)/g;

/** Parses one element; throws on anything else. */
export function parseXml(document: string): XmlElement {
  const root: XmlElement = { name: '', children: [], text: '' };
  const open: XmlElement[] = [root];
  for (const [, closing, name, , selfClosing, text] of document.matchAll(TOKEN)) {
    const current = open.at(-1) ?? root;
    if (text !== undefined) current.text += decodeEntities(text);
    else if (closing === '/') {
      if (current === root || current.name !== name) throw new Error('The answer is not well-formed XML');
      open.pop();
    } else if (name !== undefined) {
      const element: XmlElement = { name, children: [], text: '' };
      current.children.push(element);
      if (selfClosing !== '/') open.push(element);
    }
  }
  const [only] = root.children;
  if (open.length !== 1 || only === undefined) throw new Error('The answer is not well-formed XML');
  return only;
}

export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"'\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function decodeEntities(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return named[name ?? ''] ?? whole;
    },
  );
}
