// The database with entities: hot paths run SQL, administrative paths use MikroORM entities on the same
// pool and in the same transaction.
import { type EntitySchema, MikroORM, type SqlEntityManager } from "@mikro-orm/postgresql";
import { CompiledQuery, PostgresDialect } from "kysely";
import type pg from "pg";
import { Database, inStatementSpan, openTx, type Tx } from "#platform/database/database.ts";
import { openPool, type PoolOptions } from "#platform/database/pool.ts";

/** A transaction with an entity manager, which is flushed before the commit. */
export interface MappedTx extends Tx {
  readonly em: SqlEntityManager;
}

export class MappedDatabase extends Database {
  readonly #orm: MikroORM;

  private constructor(pool: pg.Pool, orm: MikroORM) {
    super(pool);
    this.#orm = orm;
  }

  /** @param entities the service's own */
  static override async open(
    options: PoolOptions & { readonly entities: readonly EntitySchema[] },
  ): Promise<MappedDatabase> {
    const pool = openPool(options);
    const orm = await MikroORM.init({
      clientUrl: options.url,
      entities: [...options.entities],
      preferTs: true,
      forceUtcTimezone: true,
      ensureDatabase: false,
      logger: (message) => options.log.warn(message),
      driverOptions: new PostgresDialect({ pool }),
    });
    await orm.em.getConnection().initClient();
    return new MappedDatabase(pool, orm);
  }

  /** An entity manager outside any transaction, for reads. */
  em(): SqlEntityManager {
    return this.#orm.em.fork();
  }

  override async transaction<T>(work: (tx: MappedTx) => Promise<T>): Promise<T> {
    return this.#orm.em.getConnection().transactional(async (trx) => {
      let em: SqlEntityManager | undefined;
      const fork = () => {
        em = this.#orm.em.fork();
        em.setTransactionContext(trx);
        return em;
      };
      const rows = <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> =>
        inStatementSpan(text, async () => (await trx.executeQuery(CompiledQuery.raw(text, [...params]))).rows as Row[]);
      const result = await work({
        ...openTx(rows),
        get em() {
          return em ?? fork();
        },
      });
      await em?.flush();
      return result;
    });
  }

  override async close(): Promise<void> {
    await this.#orm.close(true);
    // Kysely ends the pool only if it has used it.
    if (!this.pool.ending) await super.close();
  }
}
