import { usageFailure } from '../client/command-failure.ts';

/** A setting; a list of pairs is a block of indented lines, as in aws settings. */
export type IniValue = string | readonly (readonly [string, string])[];
export type IniEntries = readonly (readonly [string, IniValue])[];

interface Lines {
  /** Empty for comments and blank lines. */
  name: string;
  lines: string[];
}

const HEADER = /^\s*\[([^\]]*)\]\s*$/;

/**
 * Sets these settings in a section. Preserves everything else line by line: other sections, comments, and other
 * settings of the section.
 */
export function setIniSection(text: string, section: string, entries: IniEntries): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const [start, endExclusive] = findRange(lines, section);
  const rendered = entries.flatMap(([name, value]) => renderEntry(name, value));
  if (start === -1) {
    const gap = lines.length === 0 || lines.at(-1) === '' ? [] : [''];
    return `${[...lines, ...gap, `[${section}]`, ...rendered].join('\n')}\n`;
  }
  const ours = new Set(entries.map(([name]) => name));
  const kept = group(lines.slice(start + 1, endExclusive)).filter(({ name }) => !ours.has(name));
  // Indented lines without a setting must not become part of our last setting.
  const firstOther = kept.findIndex(({ lines: [line = ''] }) => !/^\s+\S/.test(line));
  const stray = firstOther === -1 ? kept : kept.slice(0, firstOther);
  const others = firstOther === -1 ? [] : kept.slice(firstOther);
  const inside = [...stray.flatMap((each) => each.lines), ...rendered, ...others.flatMap((each) => each.lines)];
  const all = [...lines.slice(0, start + 1), ...inside, ...lines.slice(endExclusive)];
  return `${all.join('\n')}\n`;
}

/** Returns the single-line settings of a section; null if there is no such section. */
export function readIniSection(text: string, section: string): ReadonlyMap<string, string> | null {
  const lines = text.split('\n');
  const [start, endExclusive] = findRange(lines, section);
  if (start === -1) return null;
  const groups = group(lines.slice(start + 1, endExclusive)).filter(({ name }) => name !== '');
  return new Map(groups.map(({ name, lines: [first = ''] }) => [name, first.slice(first.indexOf('=') + 1).trim()]));
}

function findRange(lines: readonly string[], section: string): [start: number, endExclusive: number] {
  const start = lines.findIndex((line) => HEADER.exec(line)?.[1]?.trim() === section);
  if (start === -1) return [-1, -1];
  const next = lines.findIndex((line, at) => at > start && HEADER.test(line));
  return [start, next === -1 ? lines.length : next];
}

/** Groups each setting with its indented lines. */
function group(lines: readonly string[]): Lines[] {
  const groups: Lines[] = [];
  for (const line of lines) {
    const previous = groups.at(-1);
    const [, name] = /^([^\s#;=][^=]*?)\s*=/.exec(line) ?? [];
    if (name === undefined && /^\s+\S/.test(line) && previous !== undefined) previous.lines.push(line);
    else groups.push({ name: name ?? '', lines: [line] });
  }
  return groups;
}

function renderEntry(name: string, value: IniValue): string[] {
  if (typeof value !== 'string')
    return [`${name} =`, ...value.map(([inner, each]) => `    ${inner} = ${assertOneLine(each)}`)];
  return [`${name} = ${assertOneLine(value)}`];
}

/** Refuses line breaks, which could inject settings. */
function assertOneLine(value: string): string {
  if (/[\p{Cc}]/u.test(value)) throw usageFailure(`${JSON.stringify(value)} cannot be written to a settings file`);
  return value;
}
