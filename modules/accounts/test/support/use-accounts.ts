import type { Database } from '@svc/sql';
import { afterEach, beforeEach } from 'vitest';
import { startTestAccounts, type TestAccounts, type TestAccountsOptions } from './test-accounts.ts';

/** A fresh module for each test of a suite, over that test's database. */
export function useAccounts(
  database: () => Database<unknown>,
  options: () => TestAccountsOptions = () => ({}),
): () => TestAccounts {
  let accounts: TestAccounts | undefined;
  beforeEach(async () => {
    accounts = await startTestAccounts(database(), options());
  });
  afterEach(() => accounts?.close());
  return () => {
    if (accounts === undefined) throw new Error('the module is there only while a test runs');
    return accounts;
  };
}
