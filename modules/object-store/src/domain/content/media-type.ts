import { storeErrors } from '../../errors.ts';

/** A parsed media type. */
export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly essence: string;
  /** Names in lower case, values without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The type for bytes of unknown type. */
export const OPAQUE_TYPE = 'application/octet-stream';
/** Longer than any registered type with its parameters. */
const MAX_LENGTH = 1_024;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const ESSENCE = new RegExp(`${TOKEN}/${TOKEN}`, 'y');
const SEPARATOR = /[ \t]*;[ \t]*/y;
const PARAMETER_NAME = new RegExp(`(${TOKEN})=`, 'y');
const PARAMETER_TOKEN = new RegExp(TOKEN, 'y');
/** Header bytes map to the same code points here, so obs-text is U+0080 to U+00FF. */
const QUOTED = /"((?:[\t !#-[\]-~\u0080-\u00ff]|\\[\t -~\u0080-\u00ff])*)"/y;

/**
 * Parses exactly one media type as in RFC 9110 section 8.3.1: no list, no second type, no repeated parameter. Null for
 * any other text, since browsers disagree on it, which is how an image becomes a page.
 */
export function parseMediaType(text: string): MediaType | null {
  if (text.length > MAX_LENGTH) return null;
  const essence = matchAt(ESSENCE, text, 0);
  if (essence === null) return null;
  const parameters = readParameters(text, essence[0].length);
  return parameters === null ? null : { essence: essence[0].toLowerCase(), parameters };
}

/**
 * Parses the parameters from `start` to the end of the text, as used by media types and `Content-Disposition`. Null if
 * the text is malformed or repeats a parameter.
 */
export function readParameters(text: string, start: number): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let at = start;
  while (at < text.length) {
    const separator = matchAt(SEPARATOR, text, at);
    if (separator === null) return /^[ \t]*$/.test(text.slice(at)) ? parameters : null;
    at += separator[0].length;
    const named = matchAt(PARAMETER_NAME, text, at);
    if (named === null) continue; // an empty parameter, or an error that the next separator detects
    at += named[0].length;
    const name = (named[1] ?? '').toLowerCase();
    const value = matchAt(QUOTED, text, at) ?? matchAt(PARAMETER_TOKEN, text, at);
    if (value === null || parameters.has(name)) return null;
    at += value[0].length;
    parameters.set(name, value[1] === undefined ? value[0] : value[1].replaceAll(/\\(.)/g, '$1'));
  }
  return parameters;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Throws `InvalidArgument` naming the field if the text is not one media type. */
export function assertMediaType(text: string, field: string): void {
  if (parseMediaType(text) !== null) return;
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  const reason = `${field} must be one media type, such as image/png or "text/plain; charset=utf-8" (RFC 9110, section 8.3); got ${JSON.stringify(shown)}`;
  throw storeErrors.InvalidArgument({ details: { reason, field, argumentName: field, argumentValue: shown } });
}

/** Returns a stored type, or the opaque type if it is invalid. Delete markers have none. */
export function storedMediaType(text: string): string {
  return text === '' || parseMediaType(text) !== null ? text : OPAQUE_TYPE;
}
