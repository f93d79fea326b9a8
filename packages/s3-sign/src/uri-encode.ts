/** AWS's percent-encoding: everything but the unreserved characters of RFC 3986 section 2.3. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Decodes a path and encodes it again in the canonical form for signatures. Null for a malformed path. */
export function canonicalPath(rawPath: string): string | null {
  try {
    return rawPath
      .split('/')
      .map((segment) => uriEncode(decodeURIComponent(segment)))
      .join('/');
  } catch {
    return null;
  }
}

/** Returns `/bucket/key`; keeps slashes in the key, and treats `.` and `..` as ordinary names. */
export function objectPath(bucket: string, key?: string): string {
  if (key === undefined) return `/${uriEncode(bucket)}`;
  return `/${uriEncode(bucket)}/${key.split('/').map(uriEncode).join('/')}`;
}
