/** Possible content numbers of a file; null for no file. The last one was written last. */
export type Contents = readonly (number | null)[];

/** What the responses reveal about a requested item: it exists, it is deleted, or either is possible. */
export type Existence = 'there' | 'gone' | 'open';

/** Compares with the id of the record, if there is one; an open outcome is adopted. */
export function judgeExistence(
  subject: string,
  known: { existence: Existence; id: string | null },
  foundId: string | undefined,
): string[] {
  const { existence } = known;
  known.existence = foundId === undefined ? 'gone' : 'there';
  known.id = foundId ?? known.id;
  if (existence === 'there' && foundId === undefined) return [`${subject} is gone`];
  if (existence === 'gone' && foundId !== undefined) return [`${subject} was deleted and is there`];
  return [];
}
