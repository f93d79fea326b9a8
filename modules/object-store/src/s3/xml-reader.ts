import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { storeErrors } from '../errors.ts';

/** A parsed element: text, or elements by name. Namespaces and attributes are read over. */
export type XmlElement = string | { readonly [name: string]: XmlElement | readonly XmlElement[] };

const MAX_DEPTH = 20;
const CDATA = '#cdata';

/** Reads a document with the given root. Entities and document types are refused; any other shape is `MalformedXML`. */
export function parseXml(document: string, root: string): XmlElement {
  if (/<!(DOCTYPE|ENTITY)/i.test(document) || XMLValidator.validate(document) !== true)
    throw storeErrors.MalformedXML();
  const parser = new XMLParser({
    ignoreAttributes: true,
    removeNSPrefix: true,
    parseTagValue: false,
    trimValues: false,
    cdataPropName: CDATA,
    processEntities: false, // the five of XML and character references are read in `childText`
    ignoreDeclaration: true,
    ignorePiTags: true,
    maxNestedTags: MAX_DEPTH,
  });
  const parsed = parse(parser, document);
  const element = parsed[root];
  if (element === undefined || Array.isArray(element)) throw storeErrors.MalformedXML();
  return element as XmlElement; // Array.isArray does not narrow a readonly array away
}

function parse(parser: XMLParser, document: string): { readonly [name: string]: XmlElement | readonly XmlElement[] } {
  try {
    return parser.parse(document) as { readonly [name: string]: XmlElement }; // with the options above: texts and objects
  } catch (cause) {
    throw storeErrors.MalformedXML({ cause });
  }
}

/** All children of the name, in their order. */
export function children(element: XmlElement, name: string): readonly XmlElement[] {
  if (typeof element === 'string') return [];
  const found = element[name];
  if (found === undefined) return [];
  return Array.isArray(found) ? (found as readonly XmlElement[]) : [found as XmlElement]; // as above
}

/** The text of the one child of the name, or undefined. */
export function childText(element: XmlElement, name: string): string | undefined {
  const found = children(element, name);
  if (found.length > 1) throw storeErrors.MalformedXML();
  const [child] = found;
  return child === undefined ? undefined : textOf(child);
}

/** The text of an element that has nothing else in it. */
export function textOf(element: XmlElement): string {
  if (typeof element === 'string') return decodeReferences(element);
  const { [CDATA]: data, ...others } = element;
  if (typeof data !== 'string' || Object.keys(others).length > 0) throw storeErrors.MalformedXML();
  return data; // as it stands: nothing in it is a reference
}

const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** XML 1.0 section 4.1. What no document type can have declared is malformed. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-fA-F]{1,6});|#(\d{1,7});|(\w{1,8});)?/g,
    (_, hex?: string, decimal?: string, name = '') => {
      if (Object.hasOwn(PREDEFINED, name)) return PREDEFINED[name] ?? '';
      const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16);
      const isSurrogate = code >= 0xd800 && code < 0xe000;
      if (Number.isNaN(code) || code === 0 || code > 0x10ffff || isSurrogate) throw storeErrors.MalformedXML();
      return String.fromCodePoint(code);
    },
  );
}
