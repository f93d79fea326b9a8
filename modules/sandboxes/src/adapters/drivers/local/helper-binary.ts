import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Path of the bundled helper binary, after verifying its checksum. */
export async function verifyHelperBinary(helperFolder: string, architecture: string): Promise<string> {
  await readVerified(helperFolder, architecture);
  return join(helperFolder, nameFor(architecture));
}

/**
 * Copies the helper to where sandboxes can read it, because the project folder may be inside a private home directory.
 * Verifies it against the bundled checksum first. Returns the path.
 */
export async function installHelperBinary(
  helperFolder: string,
  runFolder: string,
  architecture: string,
): Promise<string> {
  const found = await readVerified(helperFolder, architecture);

  await mkdir(runFolder, { recursive: true, mode: 0o711 });
  const target = join(runFolder, `agent-${found.slice(0, 16)}`);
  if (
    await stat(target).then(
      () => true,
      () => false,
    )
  )
    return target;
  const temporary = `${target}.${process.pid}`;
  await copyFile(join(helperFolder, nameFor(architecture)), temporary);
  await chmod(temporary, 0o755);
  await rename(temporary, target);
  return target;
}

function nameFor(architecture: string): string {
  return `linux-${architecture}/sandbox-agent`;
}

/** Returns its SHA-256. */
async function readVerified(helperFolder: string, architecture: string): Promise<string> {
  const name = nameFor(architecture);
  const sums = await readFile(join(helperFolder, 'SHA256SUMS'), 'utf8');
  const expected = sums
    .split('\n')
    .find((line) => line.endsWith(`  ${name}`))
    ?.split(' ')[0];
  if (expected === undefined) throw new Error(`there is no helper for ${architecture}`);
  const content = await readFile(join(helperFolder, name));
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== expected) throw new Error(`${name} is not the helper that SHA256SUMS names`);
  return found;
}
