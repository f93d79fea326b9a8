import { AppError, type AppErrorOptions } from './app-error.ts';

/** `[status, message template]`; details replace `{name}` in the template. */
export type CatalogueEntry = readonly [status: number, template: string];

/**
 * Optional arguments of an error factory. `details` is sent to the client and fills the placeholders of the message.
 */
export type ErrorExtras = Pick<AppErrorOptions, 'cause' | 'headers' | 'retryable'> & {
  details?: Record<string, unknown>;
};

/** Errors of one module: a factory per code, and in `entries` the definitions passed to `defineErrors`. */
export type Catalogue<Entries extends Record<string, CatalogueEntry>> = {
  readonly [Code in keyof Entries]: (extras?: ErrorExtras) => AppError;
} & { readonly entries: Entries };

/** Limits values from callers that a message echoes. */
const MAX_FILLED_CHARACTERS = 300;

/**
 * Defines a module's errors: code -> factory. The entry's name is the stable code that clients match.
 *
 * ```ts
 * const errors = defineErrors({ BUCKET_TAKEN: [409, 'Bucket {name} is taken'] });
 * throw errors.BUCKET_TAKEN({ details: { name } });
 * ```
 */
export function defineErrors<const Entries extends Record<string, CatalogueEntry>>(
  entries: Entries,
): Catalogue<Entries> {
  const factories: Record<string, unknown> = { entries };
  for (const [code, [status, template]] of Object.entries(entries)) {
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new Error(`${code}: ${status} is no error status`);
    factories[code] = (extras: ErrorExtras = {}) =>
      new AppError({ ...extras, code, status, message: fill(template, extras.details ?? {}) });
  }
  // The loop above creates exactly one factory per key of Entries.
  return factories as Catalogue<Entries>;
}

/** A missing detail leaves its placeholder, so that a test of the message shows it. */
function fill(template: string, details: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(details, name) ? details[name] : undefined;
    if (value === undefined) return placeholder;
    const text = readable(value);
    return text.length > MAX_FILLED_CHARACTERS ? `${text.slice(0, MAX_FILLED_CHARACTERS)}…` : text;
  });
}

function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(readable).join(', ');
  if (value instanceof Error) return value.message;
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return value.toString();
  return JSON.stringify(value);
}
