import type { WorkloadKind } from '@svc/sdk';

/** The filters are in the URL, so that a result can be shared. */
export interface ObjectsSearch {
  /** Part of a name. */
  name?: string;
  namespace?: string;
  kind?: WorkloadKind;
  /** Labels of pods, such as `app=web`. */
  selector?: string;
  node?: string;
}

export const KINDS: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob', 'Job'];

export function parseObjectsSearch({ name, namespace, kind, selector, node }: Record<string, unknown>): ObjectsSearch {
  const known = KINDS.find((each) => each === kind);
  const texts = {
    name: parseText(name),
    namespace: parseText(namespace),
    selector: parseText(selector),
    node: parseText(node),
  };
  return {
    ...(texts.name !== '' && { name: texts.name }),
    ...(texts.namespace !== '' && { namespace: texts.namespace }),
    ...(known !== undefined && { kind: known }),
    ...(texts.selector !== '' && { selector: texts.selector }),
    ...(texts.node !== '' && { node: texts.node }),
  };
}

/** The router parses numeric text as a number. */
function parseText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 253) : '';
}

/** Why a name cannot be searched for; undefined for a valid one. */
export function nameFault(name: string): string | undefined {
  return /^[a-z0-9.-]*$/.test(name) ? undefined : 'Use lowercase letters, digits, dots and hyphens.';
}
