/** Of answers to requests side by side, whose order says nothing. */
export function sortedStatuses(answers: readonly { status: number }[]): number[] {
  return answers.map(({ status }) => status).toSorted((left, right) => left - right);
}
