"""State space models: matrices they need, how states move on, and estimators of them; the numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.timeseries import covariances, likelihoods, matrices
from everflow.contrib.timeseries.state_management import ChainingStateManager
from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.level_trend import AdderStateSpaceModel
from everflow.contrib.timeseries.state_space_models.periodic import CycleStateSpaceModel, ResolutionCycleModel
from everflow.contrib.timeseries.state_space_models.structural_ensemble import StructuralEnsemble
from everflow.contrib.timeseries.state_space_models.varma import VARMA
from everflow.contrib.timeseries.state_tables import TupleOfTensorsLookup

ts = tf.contrib.timeseries


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def draw(steps=60, features=1):
    times = np.arange(steps)
    values = np.sin(2 * np.pi * times / 7)[:, None] * np.ones([1, features]) + 0.05 * times[:, None]
    return {"times": times, "values": values + np.arange(features)}


def test_powers_of_matrices_are_those_of_numpy():
    matrix = np.array([[0.5, 1.0], [-0.25, 0.75]], np.float32)
    found = run(matrices.matrix_to_powers(tf.constant(matrix), tf.constant([0, 1, 5, 8])))
    np.testing.assert_allclose(found, [np.linalg.matrix_power(matrix, p) for p in (0, 1, 5, 8)], rtol=1e-5, atol=1e-6)


def test_sums_of_powers_begin_with_nothing_and_add_one_term_each():
    a, m = np.array([[0.5, 1.0], [0.0, 0.75]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    found = run(matrices.power_sums_tensor(3, tf.constant(a), tf.constant(m)))
    terms = [np.linalg.matrix_power(a, p) @ m @ np.linalg.matrix_power(a, p).T for p in range(3)]
    np.testing.assert_allclose(found, [np.zeros([2, 2]), terms[0], terms[0] + terms[1], sum(terms)])


def test_blocks_stand_on_the_diagonal_and_sizes_are_known():
    left = tf.placeholder(tf.float32, [None, 1, 2])
    whole = matrices.block_diagonal([left, tf.ones([3, 2, 1])])
    assert whole.shape.as_list() == [3, 3, 3]
    with tf.Session() as session:
        found = session.run(whole, {left: np.full([3, 1, 2], 5.0)})
    np.testing.assert_array_equal(found[0], [[5, 5, 0], [0, 0, 1], [0, 0, 1]])


def test_any_matrix_makes_a_covariance():
    raw = np.random.RandomState(0).normal(size=[4, 3, 3])
    found = run(covariances.sign_magnitude_positive_definite(tf.constant(raw), off_diagonal_scale=-1.0))
    assert (np.linalg.eigvalsh(found) > 0).all()


def test_density_of_a_multivariate_normal_distribution():
    found = run(
        likelihoods.mvn_tril_log_prob(
            loc=tf.constant([[0.0, 1.0]]), scale_tril=tf.constant([[[2.0, 0], [1, 1]]]), x=tf.constant([[1.0, 1.0]])
        )
    )
    np.testing.assert_allclose(found, [-2.7810242], rtol=1e-5)


def test_a_table_of_structures_gives_the_default_for_what_it_lacks():
    start = (tf.zeros([2]), (tf.ones([2, 2]), tf.constant(7, tf.int64)))
    table = TupleOfTensorsLookup(tf.int64, start, empty_key=-1, deleted_key=-2, name="states")
    insert = table.insert(
        tf.constant([3], tf.int64), (tf.constant([[1.0, 2.0]]), (tf.zeros([1, 2, 2]), tf.constant([9], tf.int64)))
    )
    found = table.lookup(tf.constant([3, 4], tf.int64))
    with tf.Session() as session:
        session.run(insert)
        mean, (covariance, time) = session.run(found)
    np.testing.assert_array_equal(mean, [[1, 2], [0, 0]])
    np.testing.assert_array_equal(covariance[1], np.ones([2, 2]))
    np.testing.assert_array_equal(time, [9, 7])


CLOSED_FORMS = {
    "level and trend": lambda settings: AdderStateSpaceModel(configuration=settings),
    "cycle": lambda settings: CycleStateSpaceModel(5, configuration=settings),
    "cycle of any length": lambda settings: ResolutionCycleModel(3, 4.7, configuration=settings),
    "cycle of a whole length": lambda settings: ResolutionCycleModel(3, 5.0, configuration=settings),
}


@pytest.mark.parametrize("kind", CLOSED_FORMS)
def test_closed_forms_are_what_steps_one_by_one_come_to(kind):
    model = CLOSED_FORMS[kind](StateSpaceModelConfiguration(dtype=tf.float64))
    model.initialize_graph()
    steps = tf.constant([0, 1, 4, 11], tf.int64)
    one = tf.convert_to_tensor(model.get_state_transition(), tf.float64)
    noise = tf.convert_to_tensor(model.get_noise_transform(), tf.float64)
    transition, noise, covariance, powers, sums = run(
        [
            one,
            noise,
            model.state_transition_noise_covariance,
            model.transition_to_powers(steps),
            model.transition_power_noise_accumulator(steps),
        ]
    )
    added = noise @ covariance @ noise.T
    for number, count in enumerate((0, 1, 4, 11)):
        each = [np.linalg.matrix_power(transition, p) for p in range(count)]
        np.testing.assert_allclose(powers[number], np.linalg.matrix_power(transition, count), atol=1e-9)
        np.testing.assert_allclose(sums[number], sum((t @ added @ t.T for t in each), np.zeros_like(added)), atol=1e-9)


def test_series_drawn_from_a_model_are_tensorflows():
    model = AdderStateSpaceModel()
    model.initialize_graph()
    mean, noise, start, observed = model.random_model_parameters(seed=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = model.generate(
            2,
            2,
            seed=5,
            model_parameters={mean: [0.0, 0.0], noise: np.eye(2), start: np.zeros([2, 2]), observed: [[0.0]]},
        )
    np.testing.assert_allclose(
        found["values"][..., 0], [[0.44122750, -0.79887503], [2.43077111, 2.36628222]], rtol=1e-6
    )


def test_members_of_an_ensemble_have_scopes_and_share_the_balance_of_noises():
    model = StructuralEnsemble([3], 1, 0, configuration=StateSpaceModelConfiguration(num_features=2))
    model.initialize_graph()
    names = [variable.op.name for variable in tf.global_variables()]
    assert names[0] == "observation_transition_tradeoff_log_scale"
    assert {"adder/feature1/prior_state_mean", "varma/ma_coefs", "cycle0/state_transition_noise_overall_scale"} <= set(
        names
    )
    assert not {name for name in names[1:] if "tradeoff" in name}


def test_what_a_model_cannot_be_is_said():
    with pytest.raises(ValueError, match="odd number"):
        ResolutionCycleModel(4, 7)
    with pytest.raises(ValueError, match="2 periodicities, 1 cycle_num_latent_values"):
        ts.StructuralEnsembleRegressor(periodicities=[3, 4], num_features=1, cycle_num_latent_values=[3])
    with pytest.raises(NotImplementedError, match="one feature"):
        VARMA(1, 1, configuration=StateSpaceModelConfiguration(num_features=2)).generate(1, 1)


def test_windows_go_on_from_states_of_earlier_ones():
    model = AdderStateSpaceModel()
    model.initialize_graph()
    manager = ChainingStateManager(state_saving_interval=4)
    manager.initialize_graph(model)
    times, values = tf.placeholder(tf.int64, [1, 4]), tf.placeholder(tf.float32, [1, 4, 1])
    outputs = manager.define_loss(model, {"times": times, "values": values}, tf.estimator.ModeKeys.EVAL)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        second = {times: [[4, 5, 6, 7]], values: np.full([1, 4, 1], 3.0)}
        alone = session.run(outputs.predictions["mean"], second)
        session.run(outputs.loss, {times: [[0, 1, 2, 3]], values: np.full([1, 4, 1], 3.0)})
        after = session.run(outputs.predictions["mean"], second)
    assert abs(after[0, 0, 0] - 3.0) < abs(alone[0, 0, 0] - 3.0)


def test_structural_ensemble_trains_evaluates_predicts_and_is_exported(tmp_path):
    regressor = ts.StructuralEnsembleRegressor(
        periodicities=7,
        num_features=1,
        cycle_num_latent_values=3,
        moving_average_order=1,
        config=tf.estimator.RunConfig(tf_random_seed=1),
        model_dir=str(tmp_path / "model"),
    )
    windows = ts.WholeDatasetInputFn(ts.NumpyReader(draw()))
    regressor.train(windows, steps=2)
    evaluated = regressor.evaluate(windows, steps=1)
    (predicted,) = regressor.predict(ts.predict_continuation_input_fn(evaluated, steps=4))
    folder = regressor.export_saved_model(str(tmp_path / "saved"), regressor.build_raw_serving_input_receiver_fn())
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], folder)
        served = ts.saved_model_utils.predict_continuation(evaluated, signatures, session, steps=4)
        begun = ts.saved_model_utils.cold_start_filter(
            signatures, session, features={"times": np.arange(8)[None], "values": np.ones([1, 8, 1])}
        )
        cold = ts.saved_model_utils.predict_continuation(begun, signatures, session, steps=3)
    np.testing.assert_allclose(np.ravel(served["mean"]), np.ravel(predicted["mean"]))
    np.testing.assert_allclose(np.ravel(predicted["mean"]), [2.258, 2.315, 2.812, 3.395], rtol=1e-3)
    np.testing.assert_allclose(np.ravel(cold["mean"]), [1.465, 1.151, 0.8619], rtol=1e-3)
