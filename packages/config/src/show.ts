import { Document, isCollection, isMap, type YAMLMap } from 'yaml';
import type { Origin } from './fault.ts';
import type { LoadedConfig } from './load.ts';
import { redactValue } from './redact.ts';
import { isRecord } from './schema-tree.ts';

/** A key with its value and origin, for display. */
export interface ShownKey {
  readonly path: string;
  /** Redacted; null if the key has no value. */
  readonly value: unknown;
  readonly origin: Origin | null;
}

/** Returns every key with its value and origin, in schema order: `svc config show --json`. */
export function shownKeys(loaded: LoadedConfig<unknown>): ShownKey[] {
  return loaded.keys.map((key) => ({
    path: key.path,
    value: redactValue(key.node, valueAt(loaded.value, key.segments)) ?? null,
    origin: loaded.origins.get(key.path) ?? null,
  }));
}

/** Renders a valid YAML configuration with each value's origin as a comment: `svc config show`. */
export function renderConfig(loaded: LoadedConfig<unknown>): string {
  const document = new Document({});
  for (const key of loaded.keys) {
    const origin = loaded.origins.get(key.path);
    if (origin === undefined) continue;
    const node = document.createNode(redactValue(key.node, valueAt(loaded.value, key.segments)));
    if (origin.source !== 'default') {
      if (isCollection(node)) node.commentBefore = ` ${origin.where}`;
      else node.comment = ` ${origin.where}`;
    }
    document.setIn(key.segments, node);
  }
  if (isMap(document.contents)) spaceSections(document.contents);
  return document.toString({ lineWidth: 0 });
}

function spaceSections(contents: YAMLMap): void {
  for (const [index, pair] of contents.items.entries()) {
    if (index > 0 && isMap(pair.value) && isRecord(pair.key)) pair.key['spaceBefore'] = true;
  }
}

function valueAt(tree: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>((section, name) => (isRecord(section) ? section[name] : undefined), tree);
}
