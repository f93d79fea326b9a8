import { S3ServiceException, type S3Client } from '@aws-sdk/client-s3';
import type { CampaignState } from './campaign-state.ts';

/** The context of one client in a campaign. */
export interface CrashClient {
  readonly s3: S3Client;
  /** Base URL of the store in the management API, and its bearer token. */
  readonly management: { url: string; token: string };
  readonly state: CampaignState;
  readonly name: string;
  readonly random: () => number;
}

/** True for an error that proves the operation did not happen. Any other error leaves that open. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  const status = error.$metadata.httpStatusCode ?? 0;
  return (status >= 400 && status < 500) || status === 501;
}

export function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}

/** Records whether a started operation was answered or refused, and rethrows if it was cut off. True if it happened. */
export async function settle(
  operation: Promise<unknown>,
  outcome: { answered: () => void; refused: () => void },
): Promise<boolean> {
  try {
    await operation;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    outcome.refused();
    return false;
  }
  outcome.answered();
  return true;
}
