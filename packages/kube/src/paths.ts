import type { ResourceKind } from './discovery.ts';
import { kubeErrors } from './errors.ts';

/** Returns the path of a kind's collection, of an object if `name` is set, or of its subresource. */
export function resourcePath(kind: ResourceKind, namespace?: string, name?: string, subresource?: string): string {
  const root = kind.apiVersion.includes('/') ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
  const scope = kind.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  const object = name === undefined ? '' : `/${segment(name)}`;
  return `${root}${scope}/${kind.plural}${object}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** Applies the API server's rule for names in paths; otherwise a name could leave its collection. */
export function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name) || name.length > 253) {
    throw kubeErrors.INVALID_NAME({ details: { name: name.slice(0, 253) } });
  }
  return encodeURIComponent(name);
}
