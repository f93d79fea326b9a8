/** AWS's own percent-encoding: everything but the unreserved characters of RFC 3986 section 2.3. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A path, decoded and encoded again in the one way that signatures are made over. Null for a malformed one. */
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
