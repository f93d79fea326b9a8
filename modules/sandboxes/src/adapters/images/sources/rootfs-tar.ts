import { stat } from 'node:fs/promises';

/** An archive that an operator put on this machine; it is unpacked from where it lies. */
export async function useRootfsTar(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  return path;
}
