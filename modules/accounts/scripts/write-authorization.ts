import { writeFile } from 'node:fs/promises';
import { renderAuthorization } from '../src/domain/authorize/render-authorization.ts';
import { authorizeTable } from '../src/domain/authorize/table.ts';

/** `npm run docs --workspace @svc/accounts` */
await writeFile(new URL('../../../docs/authorization.md', import.meta.url), renderAuthorization(authorizeTable));
