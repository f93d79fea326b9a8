import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';

/** A customer-provided key, which the platform uses for encryption but does not store (SSE-C). */
export interface CustomerKey {
  base64: string;
  /** Lets the server verify that the key arrived intact. */
  md5Base64: string;
}

export interface CustomerKeyFlags {
  sseCKeyFile?: string;
  sseCSourceKeyFile?: string;
}

const KEY_BYTES = 32;

/** Reads the key from a file, since the process list shows arguments. */
export function addCustomerKeyOption(command: Command): Command {
  return command.option(
    '--sse-c-key-file <file>',
    'File with your own AES-256 key for the object: 32 bytes in Base64 or hex',
  );
}

export function addCopyKeyOption(command: Command): Command {
  return command.option('--sse-c-source-key-file <file>', 'File with the key of the source object');
}

export async function readCustomerKey(path: string | undefined): Promise<CustomerKey | null> {
  if (path === undefined) return null;
  const content = await readFile(path);
  const key = keyIn(content);
  if (key === null)
    throw usageFailure(`${path} does not contain a key`, 'expected 32 bytes, raw, in Base64, or in hex');
  return { base64: key.toString('base64'), md5Base64: createHash('md5').update(key).digest('base64') };
}

function keyIn(content: Buffer): Buffer | null {
  if (content.length === KEY_BYTES) return content;
  const text = content.toString('latin1').trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const decoded = /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : null;
  return decoded?.length === KEY_BYTES ? decoded : null;
}

/** Headers for every request that reads or writes the object's bytes, and for HEAD. */
export function customerKeyHeaders(key: CustomerKey | null): Record<string, string> {
  return headersOf('x-amz-server-side-encryption-customer', key);
}

/** Headers for the source of a copy. */
export function copySourceKeyHeaders(key: CustomerKey | null): Record<string, string> {
  return headersOf('x-amz-copy-source-server-side-encryption-customer', key);
}

function headersOf(prefix: string, key: CustomerKey | null): Record<string, string> {
  if (key === null) return {};
  return {
    [`${prefix}-algorithm`]: 'AES256',
    [`${prefix}-key`]: key.base64,
    [`${prefix}-key-md5`]: key.md5Base64,
  };
}
