import { writeFile } from 'node:fs/promises';
import { renderAuthorization } from '../src/authorize/render-authorization.ts';
import { authorizeTable } from '../src/authorize/table.ts';

/** `npm run docs --workspace @svc/accounts` */
await writeFile(new URL('../../../docs/authorization.md', import.meta.url), renderAuthorization(authorizeTable));
