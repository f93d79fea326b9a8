import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface PackedLayers {
  /** One tar archive of all layers. Destroying it ends the packer. */
  readonly archive: Readable;
  /** Resolves with why the archive is incomplete, or with null. */
  readonly ended: Promise<string | null>;
}

/** Packs the unpacked layers of an image, uppermost first, into one archive with the helper. */
export function packLayers(packer: string, layers: readonly string[], signal: AbortSignal): PackedLayers {
  return pack(packer, layers, signal);
}

/** Packs one unpacked layer as a layer of an image (OCI image-spec), with what it removes from those below. */
export function packAlone(packer: string, layer: string, signal: AbortSignal): PackedLayers {
  return pack(packer, ['--alone', layer], signal);
}

function pack(packer: string, args: readonly string[], signal: AbortSignal): PackedLayers {
  const child = spawn(packer, ['pack', ...args], { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, 1000)));
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', (error) => {
      said ||= error.message;
      resolve(said);
    });
    child.once('close', (code) => resolve(code === 0 ? null : `packing failed: ${said.trim()}`));
  });
  return { archive: child.stdout, ended };
}
