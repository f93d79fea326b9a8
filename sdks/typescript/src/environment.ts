import { SvcError } from './errors.ts';

/** Reads `SANDBOX_URL` and `SANDBOX_TOKEN`, like every client library of the sandbox API (contract, section 5). */
export function sandboxEnvironment(): { baseUrl: string; token: string } {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }; // absent in browsers
  const { SANDBOX_URL: baseUrl = '', SANDBOX_TOKEN: token = '' } = process?.env ?? {};
  if (baseUrl === '' || token === '') {
    throw new SvcError(`${baseUrl === '' ? 'SANDBOX_URL' : 'SANDBOX_TOKEN'} is not set`);
  }
  return { baseUrl, token };
}
