import { sql, type Compilable, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely';

/** Stands for the value while the query is compiled. No constant of a query equals it. */
const PLACE = 'svc:the value of a compiled query';

/**
 * Builds and compiles a query at its first use; later ones only bind another value. For queries of every request: Kysely
 * takes longer to build one than the database to answer it.
 *
 * @example
 *   const byId = compileOnce(kysely, (id) => kysely.selectFrom('person').selectAll().where('id', '=', id));
 *   const [person] = await byId('p_1');
 */
export function compileOnce<Tables, Row>(
  kysely: Kysely<Tables>,
  build: (value: RawBuilder<string>) => Compilable<Row>,
): (value: string) => Promise<readonly Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  return async (value) => {
    compiled ??= build(sql.val(PLACE)).compile();
    const parameters = compiled.parameters.map((each) => (each === PLACE ? value : each));
    return (await kysely.executeQuery<Row>({ ...compiled, parameters })).rows;
  };
}
