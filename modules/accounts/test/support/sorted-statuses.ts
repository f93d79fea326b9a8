/** Sorts the statuses of concurrent requests, whose order is arbitrary. */
export function sortedStatuses(answers: readonly { status: number }[]): number[] {
  return answers.map(({ status }) => status).toSorted((left, right) => left - right);
}
