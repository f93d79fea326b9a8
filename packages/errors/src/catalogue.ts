import { AppError, type AppErrorOptions } from './app-error.ts';

/** `[status, message template]`; `{name}` in the template is filled from the details. */
export type CatalogueEntry = readonly [status: number, template: string];

export type ErrorExtras = Pick<AppErrorOptions, 'cause' | 'headers' | 'retryable'> & {
  details?: Record<string, unknown>;
};

export type Catalogue<Entries extends Record<string, CatalogueEntry>> = {
  readonly [Code in keyof Entries]: (extras?: ErrorExtras) => AppError;
} & { readonly entries: Entries };

/**
 * One catalogue per module: code -> factory. The name of the entry is the stable code that clients match.
 *
 *     const errors = defineErrors({ BUCKET_TAKEN: [409, 'Bucket {name} is taken'] });
 *     throw errors.BUCKET_TAKEN({ details: { name } });
 */
export function defineErrors<const Entries extends Record<string, CatalogueEntry>>(
  entries: Entries,
): Catalogue<Entries> {
  const factories: Record<string, unknown> = { entries };
  for (const [code, [status, template]] of Object.entries(entries)) {
    factories[code] = (extras: ErrorExtras = {}) =>
      new AppError({ ...extras, code, status, message: fill(template, extras.details ?? {}) });
  }
  // The loop above makes exactly one factory for each key of Entries.
  return factories as Catalogue<Entries>;
}

function fill(template: string, details: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = details[name];
    return value === undefined ? placeholder : String(value);
  });
}
