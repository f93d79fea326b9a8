import { storeErrors } from '../../errors.ts';

/** The headers of one part of a form. */
export interface PartHead {
  name: string;
  /** As sent by the client, without folders. */
  fileName: string | null;
}

/** RFC 7578: `Content-Disposition: form-data; name="…"; filename="…"`. */
export function parsePartHead(text: string): PartHead {
  const disposition = text
    .split('\r\n')
    .map((line) => /^content-disposition\s*:\s*form-data\s*(;.*)$/is.exec(line)?.[1])
    .find((rest) => rest !== undefined);
  if (disposition === undefined) throw storeErrors.MalformedPOSTRequest();
  const parameters = readParameters(disposition);
  const name = parameters.get('name');
  if (name === undefined || name === '') throw storeErrors.MalformedPOSTRequest();
  const fileName = parameters.get('filename');
  return { name, fileName: fileName === undefined ? null : withoutFolders(fileName) };
}

function readParameters(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const match of text.matchAll(/;\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g)) {
    const [, name = '', quoted, bare = ''] = match;
    // Browsers write a quote as %22 (RFC 7578 section 2). A backslash escapes a quote or stands for itself.
    const value = quoted === undefined ? bare : quoted.replaceAll('\\"', '"').replaceAll(/%22/g, '"');
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

/** Old browsers send the whole path. */
function withoutFolders(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
