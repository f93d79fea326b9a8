import { assertTags, MAX_OBJECT_TAGS, type Tags } from '../domain/tags.ts';
import type { LifecycleDocument, LifecycleExpiration, LifecycleRule } from '../domain/lifecycle/lifecycle-document.ts';
import { storeErrors } from '../errors.ts';
import { toIsoDate } from './page-parameters.ts';
import { children, childText, parseXml, type XmlElement } from './xml-reader.ts';
import type { XmlNode } from './xml-writer.ts';

const MAX_RULES = 1_000;
const MAX_ID_LENGTH = 255;

/** Storage has a single class, so transitions are rejected rather than silently ignored. */
const TRANSITIONS = ['Transition', 'NoncurrentVersionTransition'];

/** Parses `<LifecycleConfiguration>`. Throws `MalformedXML`, `InvalidArgument` or `NotImplemented`, as AWS does. */
export function parseLifecycleXml(document: string): LifecycleDocument {
  const root = parseXml(document, 'LifecycleConfiguration');
  const elements = children(root, 'Rule');
  if (elements.length === 0 || elements.length > MAX_RULES) throw storeErrors.MalformedXML();
  return { rules: elements.map(readRule) };
}

export function lifecycleNode({ rules }: LifecycleDocument): XmlNode {
  return { Rule: rules.map(ruleNode) };
}

function readRule(element: XmlElement, index: number): LifecycleRule {
  const status = childText(element, 'Status');
  if (status !== 'Enabled' && status !== 'Disabled') throw storeErrors.MalformedXML();
  for (const name of TRANSITIONS) {
    if (children(element, name).length > 0) throw storeErrors.NotImplemented({ details: { operation: name } });
  }
  const id = childText(element, 'ID') ?? '';
  if (id.length > MAX_ID_LENGTH) throw invalid(`ID length should not exceed allowed limit of ${MAX_ID_LENGTH}`);
  const own = childText(element, 'Prefix');
  const filter = onlyChild(element, 'Filter');
  if ((own === undefined) === (filter === undefined)) throw storeErrors.MalformedXML();
  const noncurrent = onlyChild(element, 'NoncurrentVersionExpiration');
  const abort = onlyChild(element, 'AbortIncompleteMultipartUpload');
  return {
    id: id === '' ? `rule-${index + 1}` : id,
    enabled: status === 'Enabled',
    filter: readFilter(filter ?? '', own),
    ...(own === undefined ? {} : { ownPrefix: true }),
    expiration: readExpiration(onlyChild(element, 'Expiration')),
    noncurrentVersionExpiration:
      noncurrent === undefined
        ? null
        : {
            days: needed(readDays(noncurrent, 'NoncurrentDays', 'NoncurrentVersionExpiration')),
            newerVersions: readInteger(noncurrent, 'NewerNoncurrentVersions'),
          },
    abortIncompleteMultipartUpload:
      abort === undefined
        ? null
        : { days: needed(readDays(abort, 'DaysAfterInitiation', 'AbortIncompleteMultipartUpload')) },
  };
}

/** One condition, or several within `<And>`. */
function readFilter(filter: XmlElement, own: string | undefined): LifecycleRule['filter'] {
  const inner = onlyChild(filter, 'And') ?? filter;
  return {
    prefix: own ?? childText(inner, 'Prefix') ?? '',
    tags: readTags(children(inner, 'Tag')),
    sizeGreaterThanBytes: readInteger(inner, 'ObjectSizeGreaterThan'),
    sizeLessThanBytes: readInteger(inner, 'ObjectSizeLessThan'),
  };
}

function readTags(elements: readonly XmlElement[]): Tags {
  const pairs = elements.map((tag): readonly [string, string] => {
    const [key, value] = [childText(tag, 'Key'), childText(tag, 'Value')];
    if (key === undefined || value === undefined) throw storeErrors.MalformedXML();
    return [key, value];
  });
  return assertTags(pairs, MAX_OBJECT_TAGS);
}

function readExpiration(element: XmlElement | undefined): LifecycleExpiration | null {
  if (element === undefined) return null;
  const days = readDays(element, 'Days', 'Expiration');
  const date = childText(element, 'Date');
  const marker = childText(element, 'ExpiredObjectDeleteMarker')?.trim();
  const given = [days ?? undefined, date, marker].filter((value) => value !== undefined);
  if (given.length !== 1) throw storeErrors.MalformedXML();
  if (days !== null) return { days };
  if (date !== undefined) return { date: readDate(date.trim()) };
  if (marker !== 'true') throw storeErrors.MalformedXML();
  return { expiredObjectDeleteMarker: true };
}

/** With or without a time. `checkLifecycleRules` requires midnight. */
function readDate(text: string): string {
  const timeMs = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw storeErrors.MalformedXML();
  return toIsoDate(timeMs);
}

function readDays(element: XmlElement, name: string, action: string): number | null {
  const days = readInteger(element, name);
  if (days !== null && days < 1) throw invalid(`'${name}' for ${action} action must be a positive integer`);
  return days;
}

function readInteger(element: XmlElement, name: string): number | null {
  const text = childText(element, name)?.trim();
  if (text === undefined) return null;
  if (!/^-?\d{1,15}$/.test(text)) throw storeErrors.MalformedXML();
  return Number(text);
}

function needed(value: number | null): number {
  if (value === null) throw storeErrors.MalformedXML();
  return value;
}

function onlyChild(element: XmlElement, name: string): XmlElement | undefined {
  const [found, ...others] = children(element, name);
  if (others.length > 0) throw storeErrors.MalformedXML();
  return found;
}

function ruleNode(rule: LifecycleRule): XmlNode {
  const { noncurrentVersionExpiration: noncurrent, abortIncompleteMultipartUpload: abort } = rule;
  return {
    ID: rule.id,
    ...(rule.ownPrefix === true ? { Prefix: rule.filter.prefix } : { Filter: filterNode(rule) }),
    Status: rule.enabled ? 'Enabled' : 'Disabled',
    Expiration: rule.expiration === null ? null : expirationNode(rule.expiration),
    NoncurrentVersionExpiration:
      noncurrent === null
        ? null
        : { NoncurrentDays: noncurrent.days, NewerNoncurrentVersions: noncurrent.newerVersions },
    AbortIncompleteMultipartUpload: abort === null ? null : { DaysAfterInitiation: abort.days },
  };
}

function filterNode({ filter }: LifecycleRule): XmlNode {
  const { prefix, tags, sizeGreaterThanBytes, sizeLessThanBytes } = filter;
  const tagNodes = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const node: XmlNode = {
    ...(prefix === '' ? {} : { Prefix: prefix }),
    ...(tagNodes.length === 0 ? {} : { Tag: tagNodes }),
    ObjectSizeGreaterThan: sizeGreaterThanBytes,
    ObjectSizeLessThan: sizeLessThanBytes,
  };
  const conditions = [prefix !== '', sizeGreaterThanBytes !== null, sizeLessThanBytes !== null];
  const count = conditions.filter(Boolean).length + tagNodes.length;
  if (count === 0) return { Prefix: '' };
  return count === 1 ? node : { And: node };
}

function expirationNode(expiration: LifecycleExpiration): XmlNode {
  if ('days' in expiration) return { Days: expiration.days };
  return 'date' in expiration ? { Date: expiration.date } : { ExpiredObjectDeleteMarker: true };
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason } });
}
