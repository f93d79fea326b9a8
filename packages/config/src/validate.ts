import { Errors } from 'typebox/schema';
import type { ConfigKey, SchemaNode } from './config-key.ts';
import type { Assignment, ConfigFault } from './fault.ts';
import { unknownKey } from './yaml-source.ts';

const MAX_SHOWN_CHARACTERS = 60;

/** Describes every fault of a key's value. The schema must be closed (`closedSchema`). */
export function validateValue(key: ConfigKey, { value, origin }: Assignment): ConfigFault[] {
  const [, errors] = Errors(key.node, value);
  const faults = new Map<string, ConfigFault>();
  for (const error of errors) {
    const inner = error.instancePath.split('/').slice(1).map(unescapePointer);
    // The fault of the alternatives follows and is clearer; `boolean` repeats `additionalProperties`.
    if (isInsideAlternatives(error.schemaPath) || error.keyword === 'boolean') continue;
    const path = [key.path, ...inner].join('.');
    const node = schemaAt(key.node, inner);
    for (const fault of describe(error, path, node, valueAt(value, inner), key.secret || node.secret === true)) {
      faults.set(`${fault.path} ${fault.message}`, { ...fault, origin });
    }
  }
  return [...faults.values()];
}

type SchemaError = ReturnType<typeof Errors>[1][number];

function describe(error: SchemaError, path: string, node: SchemaNode, value: unknown, secret: boolean): ConfigFault[] {
  if (error.keyword === 'additionalProperties') {
    const names = namesIn(error.params, 'additionalProperties');
    return names.map((name) => unknownKey([...path.split('.'), name], node, [], null));
  }
  if (error.keyword === 'required') {
    const names = namesIn(error.params, 'requiredProperties');
    return names.map((name) => ({ path: `${path}.${name}`, message: 'is required', origin: null }));
  }
  const shown = secret ? '' : ` but is ${shorten(value)}`;
  return [{ path, message: `${wordsFor(error, node)}${shown}`, origin: null }];
}

function wordsFor(error: SchemaError, node: SchemaNode): string {
  const choices = node.anyOf?.map((each) => each.const) ?? node.enum;
  if (error.keyword === 'anyOf' || error.keyword === 'enum') {
    if (choices !== undefined && !choices.includes(undefined))
      return `must be one of ${choices.map(String).join(', ')}`;
    const types = (node.anyOf ?? []).map((each) => (each.const === undefined ? each.type : String(each.const)));
    if (types.length > 0) return `must be ${types.join(' or ')}`;
  }
  if (error.keyword === 'const') return `must be ${String(node.const)}`;
  if (error.keyword === 'type' && node.type !== undefined) return `must be ${withArticle(node.type)}`;
  return error.message;
}

function withArticle(type: string): string {
  const word = { array: 'list', object: 'map', string: 'text' }[type] ?? type;
  return word === 'text' ? word : `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

/** Hides user and password of any URL (RFC 3986, 3.2.1), whatever the key. */
function shorten(value: unknown): string {
  const text = (JSON.stringify(value) ?? String(value)).replaceAll(/(:\/\/)[^\s/?#"]*@/g, '$1***@');
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

function isInsideAlternatives(schemaPath: string): boolean {
  return /\/anyOf\/\d+/.test(schemaPath);
}

function schemaAt(node: SchemaNode, inner: readonly string[]): SchemaNode {
  return inner.reduce<SchemaNode>((current, name) => {
    if (current.type === 'array') return current.items ?? {};
    return current.properties?.[name] ?? Object.values(current.patternProperties ?? {})[0] ?? {};
  }, node);
}

function valueAt(value: unknown, inner: readonly string[]): unknown {
  return inner.reduce<unknown>((current, name) => {
    return typeof current === 'object' && current !== null ? (current as Record<string, unknown>)[name] : undefined;
  }, value);
}

function namesIn(params: object, field: string): string[] {
  const value = (params as Record<string, unknown>)[field]; // the parameters of an error depend on its keyword
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
