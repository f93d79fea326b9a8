import { Type, type Static } from 'typebox';

const text = Type.String({ maxLength: 4096 });

/** A list in a query: some clients separate its members by commas, others repeat the parameter. */
export const listOfTexts = Type.Union([text, Type.Array(text, { maxItems: 100 })]);

export function textsOf(given: Static<typeof listOfTexts>): string[] {
  return [given].flat().flatMap((each) => each.split(',').map((part) => part.trim()));
}
