import type { Locator } from 'playwright-core';

/** Simulates a file dropped on an element. */
export async function dropFile(target: Locator, name: string, text: string): Promise<void> {
  const transfer = await target
    .page()
    .evaluateHandle(
      `(() => { const transfer = new DataTransfer(); transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/plain' })); return transfer; })()`,
    );
  for (const event of ['dragenter', 'dragover', 'drop']) await target.dispatchEvent(event, { dataTransfer: transfer });
}
