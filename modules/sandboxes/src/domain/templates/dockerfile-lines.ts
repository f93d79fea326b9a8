import { sandboxErrors } from '../../errors.ts';

/** One instruction of a Dockerfile with its comments and line breaks removed. */
export interface Instruction {
  /** Upper case. */
  readonly name: string;
  /** Options before the arguments, such as `--from=build`. */
  readonly flags: readonly { readonly name: string; readonly value: string | null }[];
  readonly rest: string;
  /** First line, from 1. */
  readonly line: number;
}

const MAX_CHARACTERS = 256 * 1024;
const MAX_INSTRUCTIONS = 500;

/** A fault of a Dockerfile at a line. */
export function dockerfileError(line: number, reason: string): Error {
  return sandboxErrors.DOCKERFILE_REFUSED({ details: { field: 'dockerfile', line, reason } });
}

/** Splits a Dockerfile into its instructions. Throws DOCKERFILE_REFUSED. */
export function readInstructions(text: string): Instruction[] {
  if (text.length > MAX_CHARACTERS) throw dockerfileError(1, `it is larger than ${MAX_CHARACTERS} characters`);
  if (text.includes('\0')) throw dockerfileError(1, 'it contains a NUL character');
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const instructions: Instruction[] = [];
  for (let index = 0; index < lines.length;) {
    const first = lines[index] ?? '';
    if (isIgnored(first)) {
      refuseDirective(first, index + 1, instructions.length);
      index += 1;
      continue;
    }
    const line = index + 1;
    let joined = '';
    for (; index < lines.length; index += 1) {
      const part = lines[index] ?? '';
      if (joined !== '' && isIgnored(part)) continue; // comments between continued lines
      const continued = /\\[ \t]*$/.exec(part);
      joined += continued === null ? part : part.slice(0, continued.index);
      if (continued !== null) continue;
      index += 1;
      break;
    }
    instructions.push(parseInstruction(joined.trim(), line));
    if (instructions.length > MAX_INSTRUCTIONS) throw dockerfileError(line, 'there are too many instructions');
  }
  return instructions;
}

function isIgnored(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}

/** Only before the first instruction, as in Docker. `syntax` names a parser, which ours does not need. */
function refuseDirective(line: string, number: number, instructions: number): void {
  if (instructions === 0 && /^\s*#\s*escape\s*=\s*`/i.test(line)) {
    throw dockerfileError(number, 'the escape directive is not supported; use \\');
  }
}

function parseInstruction(text: string, line: number): Instruction {
  const match = /^([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(text);
  if (match === null) throw dockerfileError(line, `${text.slice(0, 40)} is no instruction`);
  const [, name = '', all = ''] = match;
  const flags: { name: string; value: string | null }[] = [];
  let rest = all;
  for (;;) {
    const flag = /^--([a-z-]+)(?:=("[^"]*"|\S*))?(?:\s+|$)/.exec(rest);
    if (flag === null) break;
    flags.push({ name: flag[1] ?? '', value: flag[2]?.replaceAll('"', '') ?? null });
    rest = rest.slice(flag[0].length);
  }
  return { name: name.toUpperCase(), flags, rest, line };
}

/** Splits arguments at blanks outside of quotes, and removes the quotes. Throws DOCKERFILE_REFUSED. */
export function splitWords(text: string, line: number): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\' && quote !== "'" && index + 1 < text.length) {
      index += 1;
      const next = text.charAt(index);
      // A dollar stays escaped for the replacement of variables.
      word = (word ?? '') + (next === '$' ? '\\$' : quote === '"' && !/["\\]/.test(next) ? `\\${next}` : next);
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else word = (word ?? '') + (quote === "'" && character === '$' ? '\\$' : character);
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== null) throw dockerfileError(line, `a ${quote} is not closed`);
  if (word !== null) words.push(word);
  return words;
}

/** The exec form, a JSON array of texts; null for anything else, which is a line for the shell. */
export function parseExecForm(text: string, line: number): string[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // a line that begins with [ is a command of the shell
  }
  if (!Array.isArray(value) || !value.every((each): each is string => typeof each === 'string')) return null;
  if (value.length === 0) throw dockerfileError(line, 'the list is empty');
  return value;
}
