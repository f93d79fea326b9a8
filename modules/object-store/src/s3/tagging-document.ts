import { compareKeys } from '../domain/key-order.ts';
import { assertTags, type Tags } from '../domain/tags.ts';
import { storeErrors } from '../errors.ts';
import { children, childText, parseXml, type XmlElement } from './xml-reader.ts';
import type { XmlNode } from './xml-writer.ts';

/** Parses `<Tagging>` of objects, buckets and forms. */
export function parseTagging(document: string, limit: number): Tags {
  const root = parseXml(document, 'Tagging');
  const [set, ...others] = children(root, 'TagSet');
  if (set === undefined || others.length > 0) throw storeErrors.MalformedXML();
  return readTagList(set, limit);
}

/** Reads the `<Tag>` children of an element. */
export function readTagList(list: XmlElement, limit: number): Tags {
  const pairs = children(list, 'Tag').map((tag): readonly [string, string] => {
    const [key, value] = [childText(tag, 'Key'), childText(tag, 'Value')];
    if (key === undefined || value === undefined) throw storeErrors.MalformedXML();
    return [key, value];
  });
  return assertTags(pairs, limit);
}

export function taggingNode(tags: Tags): XmlNode {
  const pairs = Object.entries(tags).toSorted(([first], [second]) => compareKeys(first, second));
  return { TagSet: { Tag: pairs.map(([Key, Value]) => ({ Key, Value })) } };
}
