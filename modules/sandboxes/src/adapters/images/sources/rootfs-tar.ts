import { stat } from 'node:fs/promises';

/** Validates the operator's archive on this machine; it is unpacked in place. */
export async function useRootfsTar(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  return path;
}
