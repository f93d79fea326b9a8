import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { agentErrors } from '../errors.ts';
import type { LiveConfig } from './live-config.ts';

/** Keys in a mounted Secret, the contract's first. */
const SECRET_KEYS: readonly string[] = ['SVC_TOKEN', 'token'];
const MAX_TOKEN_CHARACTERS = 16_384;

/** The current platform token: from its file if configured, else from the configuration. Never logged. */
export interface PlatformToken {
  read(): Promise<string>;
}

export function createPlatformToken(config: LiveConfig): PlatformToken {
  return {
    read: async () => {
      const { token, token_file: file } = config.current.svc;
      if (file !== undefined) return readTokenFile(file);
      if (token === undefined) throw agentErrors.TOKEN_MISSING({ details: { reason: 'none is configured' } });
      return token;
    },
  };
}

async function readTokenFile(path: string): Promise<string> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    const text = isFolder ? await readFirst(path) : await readFile(path, 'utf8');
    const token = text.trim();
    if (token === '' || token.length > MAX_TOKEN_CHARACTERS || /\s/.test(token)) {
      throw new Error('it holds no token');
    }
    return token;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read';
    throw agentErrors.TOKEN_MISSING({ details: { reason }, cause });
  }
}

async function readFirst(folder: string): Promise<string> {
  for (const key of SECRET_KEYS) {
    try {
      return await readFile(join(folder, key), 'utf8');
    } catch {
      // the Secret has the other key
    }
  }
  throw new Error(`${folder} has neither ${SECRET_KEYS.join(' nor ')}`);
}
