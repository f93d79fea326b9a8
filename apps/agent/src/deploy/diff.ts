import { isRecord, type KubeObject } from '@svc/kube';
import type { ResourceResult } from '@svc/protocol';

type Difference = NonNullable<ResourceResult['diff']>[number];

const MAX_DIFFERENCES = 256;
const MAX_SHOWN_CHARACTERS = 1024;
/** Fields that servers write on every change; noise in a diff. */
const NOISE: ReadonlySet<string> = new Set([
  '.status',
  '.metadata.managedFields',
  '.metadata.resourceVersion',
  '.metadata.generation',
  '.metadata.uid',
  '.metadata.creationTimestamp',
]);

/** Field paths that differ between the live object and its dry run. Values of Secrets are hidden. */
export function differencesBetween(before: KubeObject | null, after: KubeObject): Difference[] {
  const differences: Difference[] = [];
  compare(before ?? undefined, after, '', differences, after.kind === 'Secret');
  return differences;
}

function compare(before: unknown, after: unknown, path: string, out: Difference[], secret: boolean): void {
  if (out.length >= MAX_DIFFERENCES || NOISE.has(path)) return;
  if (isRecord(before) && isRecord(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(before[name], after[name], `${path}.${name}`, out, secret);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      compare(before[index], after[index], `${path}[${index}]`, out, secret);
    }
    return;
  }
  if (before === after) return;
  if (before === undefined && (path === '' || path === '.metadata') && isRecord(after)) {
    // List a new object field by field; server-written metadata is noise there too.
    for (const name of Object.keys(after)) compare(undefined, after[name], `${path}.${name}`, out, secret);
    return;
  }
  // Annotations too: kubectl stores the whole applied object in one.
  const hidden = secret && /^\.(data|stringData|metadata\.annotations)\b/.test(path);
  out.push({
    path: path.slice(0, MAX_SHOWN_CHARACTERS),
    ...(before === undefined ? {} : { before: shown(before, hidden) }),
    ...(after === undefined ? {} : { after: shown(after, hidden) }),
  });
}

function shown(value: unknown, hidden: boolean): string {
  if (hidden) return '***REDACTED***';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS - 1)}…` : text;
}
