import { SaxesParser } from 'saxes';
import { storeErrors } from '../errors.ts';

/** A parsed element: its text, or its child elements by name. Ignores namespaces and attributes. */
export type XmlElement = string | XmlNode;
interface XmlNode {
  [name: string]: XmlElement | XmlElement[];
}

interface OpenElement {
  name: string;
  text: string;
  /** Null until the first child. Text between children is ignored, as is whitespace for layout. */
  children: XmlNode | null;
}

const MAX_DEPTH = 20;
/**
 * Keys may contain control characters, but references to them are legal only since XML 1.1 (section 2.2), which clients
 * do not declare.
 */
const CONTROL_REFERENCE = /&#(?:0*(?:[1-8]|1[124-9]|2\d|3[01])|x0*(?:[1-8bcef]|1[0-9a-f]));/i;
/** Characters that stand for themselves in XML 1.0 only. */
const CHANGED_BY_1_1 = /[\u007F-\u009F\u2028]/;

/**
 * Parses a document with the given root. Throws `MalformedXML` for any other shape, and for document types, so that
 * entities cannot be declared.
 */
export function parseXml(document: string, root: string): XmlElement {
  const refuse = (cause?: Error): never => {
    throw storeErrors.MalformedXML(cause === undefined ? {} : { cause });
  };
  const version = CONTROL_REFERENCE.test(document) ? '1.1' : '1.0';
  if (version === '1.1' && CHANGED_BY_1_1.test(document)) refuse();
  const parser = new SaxesParser({
    xmlns: false,
    position: false,
    defaultXMLVersion: version,
    forceXMLVersion: true,
  });
  const open: OpenElement[] = [];
  let whole: XmlElement | null = null;
  const addText = (text: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  };
  parser.on('error', refuse);
  parser.on('doctype', () => refuse());
  parser.on('opentag', ({ name }) => {
    if (open.length === MAX_DEPTH) refuse();
    open.push({ name: localName(name), text: '', children: null });
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed === undefined) return;
    const element = closed.children ?? closed.text;
    const parent = open.at(-1);
    if (parent !== undefined) addChild(parent, closed.name, element);
    else if (closed.name === root) whole = element;
  });
  parser.write(document).close();
  return whole ?? refuse();
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function addChild(parent: OpenElement, name: string, element: XmlElement): void {
  parent.children ??= Object.create(null) as XmlNode; // element names cannot hit a prototype
  const known = parent.children[name];
  if (known === undefined) parent.children[name] = element;
  else if (Array.isArray(known)) known.push(element);
  else parent.children[name] = [known, element];
}

/** All children with the name, in order. */
export function children(element: XmlElement, name: string): readonly XmlElement[] {
  if (typeof element === 'string') return [];
  const found = element[name];
  if (found === undefined) return [];
  return Array.isArray(found) ? found : [found];
}

/** The text of the only child with the name, or undefined. */
export function childText(element: XmlElement, name: string): string | undefined {
  const found = typeof element === 'string' ? undefined : element[name];
  if (found === undefined || typeof found === 'string') return found;
  throw storeErrors.MalformedXML();
}

/** The text of an element without children. */
export function readText(element: XmlElement): string {
  if (typeof element === 'string') return element;
  throw storeErrors.MalformedXML();
}
