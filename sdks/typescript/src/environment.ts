import { SvcError } from './errors.ts';

/** `SANDBOX_URL` and `SANDBOX_TOKEN`, as every client library of the sandbox API reads them (contract, section 5). */
export function sandboxEnvironment(): { baseUrl: string; token: string } {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }; // not there in browsers
  const { SANDBOX_URL: baseUrl = '', SANDBOX_TOKEN: token = '' } = process?.env ?? {};
  if (baseUrl === '' || token === '') {
    throw new SvcError(`${baseUrl === '' ? 'SANDBOX_URL' : 'SANDBOX_TOKEN'} is not set`);
  }
  return { baseUrl, token };
}
