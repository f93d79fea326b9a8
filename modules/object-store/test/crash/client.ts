import { S3ServiceException, type S3Client } from '@aws-sdk/client-s3';
import type { CampaignState } from './campaign-state.ts';

/** What one client of a campaign works with. */
export interface CrashClient {
  readonly s3: S3Client;
  /** Base URL of the management API's store, with the token that it wants. */
  readonly management: { url: string; token: string };
  readonly state: CampaignState;
  readonly name: string;
  readonly random: () => number;
}

/** A refusal was decided and answered: what was asked did not happen. All else leaves it open. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  const status = error.$metadata.httpStatusCode ?? 0;
  return (status >= 400 && status < 500) || status === 501;
}

export function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}

/** Runs what was begun: answered, refused, or thrown on as cut off. True when it happened. */
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
