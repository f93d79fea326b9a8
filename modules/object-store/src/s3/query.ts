import type { QueryParameter } from '@svc/s3-sign';
import { isVersionId } from '../domain/version-id.ts';
import { storeErrors } from '../errors.ts';

const MAX_PARAMETERS = 256;

/** The query, decoded once. A name without `=` has an empty value, as in `?uploads`. */
export class RequestQuery {
  readonly parameters: readonly QueryParameter[];

  constructor(raw: string) {
    const pieces = raw === '' ? [] : raw.split('&').filter((piece) => piece !== '');
    if (pieces.length > MAX_PARAMETERS) throw storeErrors.InvalidURI();
    this.parameters = pieces.map((piece) => {
      const at = piece.indexOf('=');
      if (at === -1) return { name: decode(piece), value: '' };
      return { name: decode(piece.slice(0, at)), value: decode(piece.slice(at + 1)) };
    });
  }

  /** The first value of the parameter. */
  get(name: string): string | undefined {
    return this.parameters.find((parameter) => parameter.name === name)?.value;
  }

  /** The requested version. Undefined for the current one. */
  versionId(): string | undefined {
    const versionId = this.get('versionId');
    if (versionId !== undefined) assertVersionId(versionId);
    return versionId;
  }

  has(name: string): boolean {
    return this.parameters.some((parameter) => parameter.name === name);
  }
}

/** Throws `InvalidArgument` for an invalid version id. */
export function assertVersionId(versionId: string): void {
  if (isVersionId(versionId)) return;
  const reason = versionId === '' ? 'Version id cannot be the empty string' : 'Invalid version id specified';
  throw storeErrors.InvalidArgument({ details: { reason, field: 'versionId' } });
}

/** In a query, unlike in a path, `+` is a space. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);
  } catch {
    throw storeErrors.InvalidURI();
  }
}
