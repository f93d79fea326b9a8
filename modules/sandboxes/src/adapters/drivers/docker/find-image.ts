import { asFields, isMissing, type EngineClient } from './engine-client.ts';

/** The id of the image of that name in the engine; null when there is none. */
export async function findImage(client: EngineClient, reference: string, signal: AbortSignal): Promise<string | null> {
  try {
    const found = asFields(await client.json('GET', `/images/${reference}/json`, { signal }));
    return typeof found['Id'] === 'string' ? found['Id'] : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
