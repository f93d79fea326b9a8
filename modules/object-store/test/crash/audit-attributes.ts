import { GetObjectTaggingCommand, type S3Client } from '@aws-sdk/client-s3';
import { EXPIRING_BUCKET, TAGGED_BUCKET, type CampaignState } from './campaign-state.ts';
import { isAbsent } from './client.ts';
import { readObject } from './read-object.ts';
import { TAG } from './tag-operations.ts';

/** Checks the tags of each object against the acknowledged operations. */
export async function auditTags(client: S3Client, { tags }: CampaignState): Promise<string[]> {
  const findings: string[] = [];
  for (const key of tags.names()) {
    const wrong = tags.judge(key, await readTag(client, key));
    if (wrong !== null) findings.push(`tag of ${wrong}`);
  }
  return findings;
}

/** Checks that objects a rule may expire are gone or whole, and that all others exist. */
export async function auditAging(client: S3Client, state: CampaignState): Promise<string[]> {
  const findings: string[] = [];
  for (const key of state.aging.keys()) {
    const found = await readObject(client, { Bucket: EXPIRING_BUCKET, Key: key });
    const before = state.aging.settled(key);
    const wrong = state.aging.judge(key, found);
    if (wrong !== null) findings.push(wrong);
    else if (found === null && before !== 'delete') state.expired += 1;
    else if (found !== null && key.startsWith('goes/')) state.aging.begin(key, { kind: 'delete' });
  }
  return findings;
}

async function readTag(client: S3Client, Key: string): Promise<string | null> {
  try {
    const { TagSet = [] } = await client.send(new GetObjectTaggingCommand({ Bucket: TAGGED_BUCKET, Key }));
    return TagSet.find((tag) => tag.Key === TAG)?.Value ?? '';
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
