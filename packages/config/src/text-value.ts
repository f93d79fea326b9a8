import type { SchemaNode } from './config-key.ts';

/** The value parsed from environment or flag text, or a description of the expected format. */
export type TextValue = { readonly value: unknown } | { readonly expected: string };

const TRUE_WORDS: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

/**
 * Parses text by the schema's type: numbers, booleans (`true`, `yes`, `on`, `1`), lists (`a,b` or JSON), maps
 * (`a=b,c=d` or JSON). Bounds and patterns are checked later, together with all other sources.
 */
export function readText(node: SchemaNode, text: string): TextValue {
  if (node.const !== undefined)
    return String(node.const) === text ? { value: node.const } : expected(String(node.const));
  if (node.enum !== undefined) return readEnum(node.enum, text);
  if (node.anyOf !== undefined) return readAlternatives(node.anyOf, text);
  switch (node.type) {
    case 'integer':
    case 'number':
      return /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? { value: Number(text) } : expected('a number');
    case 'boolean':
      return readBoolean(text);
    case 'null':
      return text === '' || text === 'null' ? { value: null } : expected('null');
    case 'array':
      return readList(node.items ?? {}, text);
    case 'object':
      return text.trimStart().startsWith('{') ? readJson(text) : readMap(text);
    default:
      return { value: text };
  }
}

function readEnum(values: readonly unknown[], text: string): TextValue {
  const found = values.find((value) => String(value) === text);
  return found === undefined ? expected(`one of ${values.map(String).join(', ')}`) : { value: found };
}

/** Tries strings last, since any text is a string: `4000` is a number where both are allowed. */
function readAlternatives(nodes: readonly SchemaNode[], text: string): TextValue {
  const outcomes = [...nodes.filter((node) => !isText(node)), ...nodes.filter(isText)].map((node) =>
    readText(node, text),
  );
  const found = outcomes.find((outcome) => 'value' in outcome);
  return (
    found ?? expected(outcomes.flatMap((outcome) => ('expected' in outcome ? [outcome.expected] : [])).join(' or '))
  );
}

function isText(node: SchemaNode): boolean {
  return node.type === 'string' && node.const === undefined;
}

function readBoolean(text: string): TextValue {
  const word = text.trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return { value: true };
  return FALSE_WORDS.has(word) ? { value: false } : expected('true or false');
}

function readList(item: SchemaNode, text: string): TextValue {
  if (text.trimStart().startsWith('[')) return readJson(text);
  const outcomes = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => readText(item, part));
  const values = outcomes.flatMap((outcome) => ('value' in outcome ? [outcome.value] : []));
  const wrong = outcomes.find((outcome) => 'expected' in outcome);
  return wrong === undefined ? { value: values } : expected(`a list, each ${wrong.expected}`);
}

function readMap(text: string): TextValue {
  const entries: [string, string][] = [];
  for (const part of text.split(',')) {
    const [name = '', ...rest] = part.split('=');
    if (name.trim() === '' || rest.length === 0) return expected('name=value pairs separated by commas, or JSON');
    entries.push([name.trim(), rest.join('=').trim()]);
  }
  return { value: Object.fromEntries(entries) };
}

function readJson(text: string): TextValue {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return expected('valid JSON'); // the parser's message would quote the text, which may be a secret
  }
}

function expected(what: string): TextValue {
  return { expected: what };
}
