"""Follow a view as it changes: alerts for sensors whose average passes a limit, retracted when it falls again."""

from __future__ import annotations

from pillion.actors import ActorSystem, avg, col

LIMIT = 50.0


def main() -> None:
    with ActorSystem() as system:
        readings = system.create_table("readings", {"sensor": "text", "at": "bigint", "value": "double"})
        hot = readings.group_by("sensor").agg(mean=avg("value")).filter(col("mean") > LIMIT).select("sensor")

        with system.subscribe(hot) as alerts:
            print(f"at the beginning {len(next(alerts))} alerts")
            for at, values in enumerate([{"a": 40.0, "b": 45.0}, {"a": 90.0, "b": 46.0}, {"a": 10.0, "b": 90.0}]):
                written = readings.insert([(sensor, at, value) for sensor, value in values.items()])
                for batch in alerts.until(written.timestamp):
                    for _, diff, (sensor,) in sorted(batch):
                        print(f"at {at}: sensor {sensor} is {'too hot' if diff > 0 else 'fine again'}")


if __name__ == "__main__":
    main()
